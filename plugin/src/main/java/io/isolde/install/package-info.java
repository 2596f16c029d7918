// SPDX-License-Identifier: Apache-2.0
/**
 * How Isolde comes into a node: {@link io.isolde.install.IsoldeFormatFactory} is what Cassandra
 * finds by itself in the jar, {@link io.isolde.install.ActiveHandler} refuses writes where that did
 * not happen, and {@link io.isolde.install.TestedVersion} says which Cassandra the tests run on.
 */
package io.isolde.install;
