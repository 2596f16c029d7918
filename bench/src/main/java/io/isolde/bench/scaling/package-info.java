/**
 * How large a cluster one oracle can serve: what its members were measured to pay for each kind of
 * request, and a simulation of clusters that nobody has here.
 */
package io.isolde.bench.scaling;
