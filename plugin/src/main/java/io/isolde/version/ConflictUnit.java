// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.cassandra.cql3.statements.schema.IndexTarget;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.TableMetadata;

/**
 * What two transactions at SNAPSHOT may not both write. The schema has it, as an option of the
 * table's version index.
 */
public enum ConflictUnit {
  /** A row: the default. */
  ROW,
  /** A column of a row. Two transactions may write to different columns of one row. */
  CELL;

  /** The option of ENABLE TRANSACTIONS, and of the index. */
  public static final String OPTION = "conflicts";

  /** Returns the value that stands for it in a statement. */
  public String inCql() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns what CREATE INDEX says of it. */
  public String indexOptions() {
    return this == ROW ? "" : " WITH OPTIONS = {'%s': '%s'}".formatted(OPTION, inCql());
  }

  /** Returns what a value of the option means; empty if it means nothing. */
  public static Optional<ConflictUnit> parse(String value) {
    for (ConflictUnit unit : values()) {
      if (unit.inCql().equalsIgnoreCase(value)) {
        return Optional.of(unit);
      }
    }
    return Optional.empty();
  }

  /** Returns the unit of a table by its schema; {@link #ROW} if it has no version index. */
  public static ConflictUnit of(TableMetadata table) {
    for (IndexMetadata index : table.indexes) {
      String type = index.options.get(IndexTarget.CUSTOM_INDEX_OPTION_NAME);
      if (VersionIndex.class.getName().equals(type)) {
        return parse(index.options.get(OPTION)).orElse(ROW);
      }
    }
    return ROW;
  }

  /** As {@link #of}, by the schema that this node has now. */
  public static ConflictUnit now(TableMetadata table) {
    VersionIndex versions = NodeVersions.ofThisNode().of(table.id);
    return of(versions == null ? table : versions.table());
  }

  /** Refuses a value that a later version may have: a node that does not know it must not guess. */
  static void validate(Map<String, String> options) {
    String value = options.get(OPTION);
    if (value != null && parse(value).isEmpty()) {
      throw new ConfigurationException(OPTION + " is 'row' or 'cell', not '" + value + "'");
    }
  }
}
