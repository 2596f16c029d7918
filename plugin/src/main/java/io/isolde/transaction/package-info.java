// SPDX-License-Identifier: Apache-2.0
/**
 * The transaction manager of a node: open transactions, what they read and write, and how they
 * commit. See docs/life-of-a-transaction.md for each step and why it is where it is.
 */
package io.isolde.transaction;
