// SPDX-License-Identifier: Apache-2.0
/**
 * Transactions for applications on Apache Cassandra with Isolde.
 *
 * <p>Start with {@link io.isolde.client.Isolde}: {@code Isolde.on(session).run(tx -> ...)} begins,
 * commits and retries. {@link io.isolde.client.Transaction} is what the function works with, {@link
 * io.isolde.client.IsoldeException} is what can go wrong.
 *
 * <p>For maintainers: the decisions are plain functions without driver, clock or randomness ({@code
 * Backoff}, {@code CommitResolution}, {@code ErrorTrailer}, {@code DriverErrors}); {@code
 * TransactionRequests} is the seam to the driver and {@code Timing} the one to clock, jitter and
 * sleep.
 */
package io.isolde.client;
