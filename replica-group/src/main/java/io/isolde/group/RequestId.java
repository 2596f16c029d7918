// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

/**
 * Names a write, so that it is applied once however often it is sent.
 *
 * @param session a node's process; random, never 0
 * @param number counts the session's writes to one group
 * @param oldestOpen below it the session sends none again
 */
public record RequestId(long session, long number, long oldestOpen) {}
