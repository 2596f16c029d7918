// SPDX-License-Identifier: Apache-2.0
/** Nodes that are far from one another, on one machine. */
package io.isolde.bench.distance;
