// SPDX-License-Identifier: Apache-2.0
/** Distances between nodes that are near each other, for tests and studies. */
package io.isolde.staleness.emulate;
