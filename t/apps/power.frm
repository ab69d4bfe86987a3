* Powers of sums, substitutions and a sort: terms travel between master and workers.
#-
Off statistics;
Symbols a, b, c, d, x, y, n;
CFunction f, g;
Local F = (a + b + c + d)^14 + f(a + b)^2;
Local G = (a - b + 2*c)^18;
.sort
id a = x + y;
.sort
id b^n? = f(n) * x^n;
.sort
id f(n?) * f(n?) = g(n);
id c = d + 1;
.sort
id x = 1;
id y = 2;
id d = -1;
Print +f;
.end
