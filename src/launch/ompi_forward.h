/*
 * ompi_forward.h - makes Open MPI's launcher forward the tracer's environment to other nodes.
 *
 * Ranks on the launcher's node inherit LD_PRELOAD and RONDO_*. Ranks on other nodes receive only
 * the variables that the launcher exports: by -x options, or by its parameter mca_base_env_list (on
 * the command line, in the environment, or in the user's parameter file). Open MPI rejects a
 * command with both. The method that the user has chosen is therefore extended.
 */
#ifndef RN_LAUNCH_OMPI_FORWARD_H
#define RN_LAUNCH_OMPI_FORWARD_H

/* Returns the command to run instead of `command`, a command line of Open MPI's mpirun; NULL
 * without memory. May change OMPI_MCA_mca_base_env_list. Must be called once, when the environment
 * is complete. */
char **forward_environment(char **command);

#endif
