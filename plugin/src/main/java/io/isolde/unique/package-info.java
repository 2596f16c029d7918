// SPDX-License-Identifier: Apache-2.0
/**
 * Unique indexes: a table of entries beside a table, one for each value, kept in the same commits.
 * What they are, what statements change of them, and their place in the schema. {@code
 * docs/adr/0034-a-unique-index-is-a-table-of-entries.md} has the reasons.
 */
package io.isolde.unique;
