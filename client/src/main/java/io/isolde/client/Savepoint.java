// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

/**
 * A moment of a transaction that it can go back to; see {@link Transaction#savepoint}.
 *
 * @param name as {@code ROLLBACK TO} takes it
 */
public record Savepoint(String name) {}
