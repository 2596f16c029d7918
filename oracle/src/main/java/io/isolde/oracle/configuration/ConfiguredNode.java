// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

/**
 * A node of the ring.
 *
 * @param isUp whether the oracle hears of it: its coordinator's session is open. One that is not up
 *     commits nothing until it is heard of again
 * @param version of its last change
 */
public record ConfiguredNode(NodeInfo info, boolean isUp, long version) {}
