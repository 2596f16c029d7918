// SPDX-License-Identifier: Apache-2.0
/** Nodes that are far from one another, on one machine, and the round trips between them. */
package io.isolde.bench.distance;
