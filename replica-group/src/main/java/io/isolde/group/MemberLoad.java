// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

/**
 * What another member of a group is busy with.
 *
 * @param id the member's
 * @param entriesBehind what it has not applied and the one that asked has
 */
public record MemberLoad(String id, NodeLoad load, long entriesBehind) {}
