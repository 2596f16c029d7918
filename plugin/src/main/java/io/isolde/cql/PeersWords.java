// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.IsoldeException;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.cassandra.exceptions.SyntaxException;

/** Statements of other databases that people try here, and what to write instead. */
final class PeersWords {
  /** A longer text that begins with BEGIN is a batch or a block. */
  static final int MAX_BEGIN_CHARACTERS = 32;

  private static final Map<Pattern, String> SENTENCES =
      Map.of(
          Pattern.compile("(?i)\\s*BEGIN(\\s+WORK)?\\s*;?\\s*"),
          "BEGIN: START TRANSACTION begins a transaction of several requests. BEGIN TRANSACTION …"
              + " COMMIT TRANSACTION is a whole one in one request.",
          Pattern.compile("(?is)\\s*SET\\s+(SESSION\\s+|GLOBAL\\s+)?TRANSACTION\\b.*"),
          "SET TRANSACTION: say it in START TRANSACTION [ISOLATION LEVEL SNAPSHOT | SERIALIZABLE]"
              + " [READ ONLY] [AS OF microseconds].",
          Pattern.compile("(?is)\\s*LOCK\\s+TABLES?\\b.*"),
          "LOCK TABLES: there are no locks of tables. After START TRANSACTION, SELECT … FOR UPDATE"
              + " locks rows. Without it, COMMIT gets CONFLICT if others have changed what the"
              + " transaction has read.");

  private PeersWords() {}

  /**
   * Refuses such a statement.
   *
   * @param text without comments
   * @throws SyntaxException which names ours
   */
  static void refuse(String text) {
    SENTENCES.forEach(
        (statement, sentence) -> {
          if (statement.matcher(text).matches()) {
            throw IsoldeException.syntax(sentence);
          }
        });
  }
}
