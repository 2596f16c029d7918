// SPDX-License-Identifier: Apache-2.0
/**
 * Holds statements on a table back, on every node, while the table becomes transactional, ceases to
 * be, or is truncated.
 */
package io.isolde.transaction.barrier;
