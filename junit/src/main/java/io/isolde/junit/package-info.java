// SPDX-License-Identifier: Apache-2.0
/**
 * A real node for the tests of applications: {@link io.isolde.junit.IsoldeTest} on a class, and its
 * tests get a session, transactions and a keyspace of their own.
 */
package io.isolde.junit;
