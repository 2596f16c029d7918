// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A statement that can be sent in every form there is.
 *
 * @param text with $t for the table and question marks for the values
 */
record Cql(String text, List<Object> values) {

  /** How the statement travels. */
  enum Form {
    /** Values are part of the text. */
    LITERAL,
    /** Values are sent beside a text that is not prepared. */
    VALUES,
    PREPARED
  }

  static Cql of(String text, Object... values) {
    return new Cql(text, Arrays.asList(values));
  }

  /** Returns the statement with something else in it. */
  Cql with(String placeholder, String content) {
    return new Cql(text.replace(placeholder, content), values);
  }

  Statement<?> on(String table, Form form, CqlSession session) {
    String cql = text.replace("$t", table);
    return switch (form) {
      case LITERAL -> SimpleStatement.newInstance(literal(cql));
      case VALUES -> SimpleStatement.newInstance(cql, values.toArray());
      case PREPARED -> session.prepare(cql).bind(values.toArray());
    };
  }

  private String literal(String cql) {
    StringBuilder out = new StringBuilder();
    int value = 0;
    for (int i = 0; i < cql.length(); i++) {
      char c = cql.charAt(i);
      if (c == '?') {
        out.append(literal(values.get(value++)));
      } else {
        out.append(c);
      }
    }
    return out.toString();
  }

  private static String literal(Object value) {
    if (value instanceof String text) {
      return "'" + text + "'";
    }
    if (value instanceof Map<?, ?> map) {
      return map.entrySet().stream()
          .map(entry -> literal(entry.getKey()) + ": " + literal(entry.getValue()))
          .collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof Set<?> set) {
      return set.stream().map(Cql::literal).collect(Collectors.joining(", ", "{", "}"));
    }
    if (value instanceof List<?> list) {
      return list.stream().map(Cql::literal).collect(Collectors.joining(", ", "[", "]"));
    }
    return String.valueOf(value);
  }

  @Override
  public String toString() {
    return literal(text) + ";";
  }
}
