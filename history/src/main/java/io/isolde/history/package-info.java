// SPDX-License-Identifier: Apache-2.0
/**
 * Looks for what an isolation level forbids in what clients saw of a database, without knowing what
 * went on inside of it: Adya's phenomena (Weak Consistency, 1999), found as cycles of dependencies
 * as in Elle (Kingsbury and Alvaro, VLDB 2020).
 *
 * <p>Pure: no clock, no thread, no random.
 */
package io.isolde.history;
