// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;

/** What a table held is gone with it, also if it was dropped after the decision. */
final class TablesThatExist {
  private TablesThatExist() {}

  /** The mutations without what is of tables that are gone. */
  static List<Mutation> of(List<Mutation> mutations) {
    List<Mutation> present = new ArrayList<>(mutations.size());
    for (Mutation mutation : mutations) {
      Set<TableId> dropped = new HashSet<>(0);
      for (TableId table : mutation.getTableIds()) {
        if (Schema.instance.getTableMetadata(table) == null) {
          dropped.add(table);
        }
      }
      Mutation rest = dropped.isEmpty() ? mutation : mutation.without(dropped);
      if (!rest.isEmpty()) {
        present.add(rest);
      }
    }
    return present;
  }
}
