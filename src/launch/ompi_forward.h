/*
 * ompi_forward.h - makes Open MPI's launcher take our environment to other nodes.
 *
 * Its ranks on this node inherit LD_PRELOAD and RONDO_*; those of other nodes get only what it is
 * told to export: by -x options, or by its parameter mca_base_env_list (on the command line, in the
 * environment, or in the user's file of parameters). It refuses to run with both, so the way that
 * the user has chosen is taken, and what is there is added to.
 */
#ifndef RN_LAUNCH_OMPI_FORWARD_H
#define RN_LAUNCH_OMPI_FORWARD_H

/* The command to run instead of `command`, a line of Open MPI's mpirun; NULL if there is no memory.
 * May change OMPI_MCA_mca_base_env_list. To be called once, when the environment is complete. */
char **forward_environment(char **command);

#endif
