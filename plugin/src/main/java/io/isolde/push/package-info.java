// SPDX-License-Identifier: Apache-2.0
/**
 * The port on which this node pushes changes to clients, as WebSockets with JSON. What a session
 * does is in module {@code notification}; here are its connections, logins and questions, and what
 * nodes say to each other to be equally busy.
 *
 * <p>Event loops read and write, and run the sessions. Whatever may wait or take long, logins,
 * statements and the oracle's memory, runs on other threads.
 */
package io.isolde.push;
