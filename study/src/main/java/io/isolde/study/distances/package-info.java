// SPDX-License-Identifier: Apache-2.0
/**
 * Distances between nodes that are near each other. Nodes run {@link
 * io.isolde.study.distances.DistantSnitch}, from this jar on their class path.
 */
package io.isolde.study.distances;
