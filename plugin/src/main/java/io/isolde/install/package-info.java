// SPDX-License-Identifier: Apache-2.0
/**
 * How Isolde comes into a node:
 *
 * <ul>
 *   <li>{@link io.isolde.install.IsoldeFormatFactory} is what Cassandra finds by itself in the jar.
 *   <li>{@link io.isolde.install.ActiveHandler} refuses writes where that did not happen.
 *   <li>{@link io.isolde.install.TestedVersion} says which Cassandra the tests run on.
 * </ul>
 */
package io.isolde.install;
