// SPDX-License-Identifier: Apache-2.0
/**
 * Sessions in which nodes push to clients what has changed: both ends of a session, and the balance
 * of sessions between nodes. Pure: no thread, clock, socket or random.
 *
 * <p>A session's state is one number for each subscription, its position, and the client has it.
 * All nodes order the commits in the same way. So a session goes on at another node when the client
 * subscribes there after its position; nodes hand nothing over.
 */
package io.isolde.notification;
