// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import java.util.List;

/**
 * A statement of a block as Cassandra parses it: with a marker in the place of each value that
 * depends on rows of LETs.
 *
 * @param cql the text
 * @param values what its markers stand for, in their order: markers of the block, and expressions
 */
record StatementText(String cql, List<Expression> values) {}
