// SPDX-License-Identifier: Apache-2.0

/**
 * Blocks: whole transactions that come in one request, {@code BEGIN TRANSACTION … COMMIT
 * TRANSACTION}. The grammar is that of Cassandra 6, and more. {@link io.isolde.block.BlockParser}
 * reads a text, {@link io.isolde.block.BlockCompiler} gives it types, and {@link
 * io.isolde.block.BlockRun} carries it out in a transaction.
 */
package io.isolde.block;
