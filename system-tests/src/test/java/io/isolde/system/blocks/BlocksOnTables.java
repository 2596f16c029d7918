// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.blocks;

import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;

/** Two tables, and blocks on them from a driver that knows nothing of Isolde. */
abstract class BlocksOnTables {
  static final SystemNode NODE = SystemNode.shared();
  static final String TABLE =
      NODE.table(
          "id int, c int, v int, b bigint, d double, n decimal, w text, l list<int>,"
              + " m map<text, int>, k set<int>, s int static, PRIMARY KEY (id, c)");
  static final String OTHER = NODE.table("id int PRIMARY KEY, v int");

  @BeforeEach
  void write() {
    execute("DELETE FROM $t WHERE id IN (1, 2, 3, 4, 5)");
    execute("DELETE FROM $o WHERE id IN (1, 2, 3)");
    execute(
        "INSERT INTO $t (id, c, v, b, d, n, w, l, m, k, s) VALUES (1, 1, 10, 100, 1.5, 2.5, 'x',"
            + " [7, 8], {'a': 1}, {3}, 5)");
    execute("INSERT INTO $t (id, c, v) VALUES (2, 1, 20)");
    execute("INSERT INTO $t (id, c, v) VALUES (2, 2, 30)");
  }

  static String cql(String text) {
    return text.replace("$t", TABLE).replace("$o", OTHER);
  }

  static ResultSet execute(String text, Object... values) {
    return NODE.session().execute(SimpleStatement.newInstance(cql(text), values));
  }

  static ResultSet block(String items, Object... values) {
    return execute("BEGIN TRANSACTION " + items + " COMMIT TRANSACTION", values);
  }

  static List<String> rows(String select) {
    return Results.lines(execute(select));
  }
}
