// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Reads the text of a block.
 *
 * <pre>
 * BEGIN TRANSACTION
 *   { LET name = ( SELECT … ) ;
 *   | SELECT … FROM … ;
 *   | SELECT name.column [AS name] [, …] ;
 *   | INSERT … ; | UPDATE … ; | DELETE … ;
 *   | IF condition THEN … [ELSE …] END IF }
 * COMMIT TRANSACTION
 * </pre>
 *
 * <p>{@code APPLY TRANSACTION} is the same as COMMIT: cqlsh waits for that word.
 */
final class BlockParser {
  private static final String ITEMS =
      "LET, SELECT, INSERT, UPDATE, DELETE, IF or COMMIT TRANSACTION";
  private static final int MAX_ITEMS = 1000;

  /** Of IFs in one another. */
  private static final int MAX_DEPTH = 20;

  private final BlockTokens tokens;

  /** The names of the LETs that can be used here. */
  private Set<String> rows = new LinkedHashSet<>();

  private final Set<String> allRows = new HashSet<>();
  private int items;
  private int depth;

  private BlockParser(BlockTokens tokens) {
    this.tokens = tokens;
  }

  /**
   * Reads a text that begins with {@code BEGIN TRANSACTION}.
   *
   * @throws org.apache.cassandra.exceptions.SyntaxException which says where it is wrong
   */
  static ParsedBlock parse(String text) {
    return new BlockParser(BlockTokens.of(text)).block();
  }

  private ParsedBlock block() {
    tokens.expectWord("BEGIN");
    tokens.expectWord("TRANSACTION");
    tokens.takeIfSymbol(";");
    if (tokens.peek().kind() == BlockTokens.Kind.END) {
      throw IsoldeException.syntax(
          "BEGIN TRANSACTION: all statements up to COMMIT TRANSACTION come in the same request."
              + " START TRANSACTION begins one whose statements come one by one.");
    }
    List<Item> all = items();
    if (!tokens.takeIfWord("COMMIT") && !tokens.takeIfWord("APPLY")) {
      throw tokens.expected(ITEMS);
    }
    tokens.expectWord("TRANSACTION");
    tokens.takeIfSymbol(";");
    if (tokens.peek().kind() != BlockTokens.Kind.END) {
      throw tokens.expected("nothing after COMMIT TRANSACTION");
    }
    if (all.stream().allMatch(Item.Let.class::isInstance)) {
      throw IsoldeException.syntax(
          "BEGIN TRANSACTION: it returns nothing and writes nothing; add a SELECT or a write.");
    }
    return new ParsedBlock(all, tokens.markers());
  }

  /** Up to something else. */
  private List<Item> items() {
    List<Item> all = new ArrayList<>();
    for (Item item = item(); item != null; item = item()) {
      if (++items > MAX_ITEMS) {
        throw tokens.wrong("a block has at most " + MAX_ITEMS + " statements");
      }
      all.add(item);
    }
    return all;
  }

  private Item item() {
    BlockTokens.Part first = tokens.peek();
    if (first.isWord("LET")) {
      return let();
    }
    if (first.isWord("SELECT")) {
      return select();
    }
    if (first.isWord("IF")) {
      return choice();
    }
    if (first.isWord("INSERT") || first.isWord("UPDATE") || first.isWord("DELETE")) {
      StatementText statement = StatementReader.read(tokens, ";", rows);
      tokens.expectSymbol(";");
      return new Item.Write(statement);
    }
    if (first.isWord("ROLLBACK")) {
      throw tokens.wrong("a block has no ROLLBACK; put what may not be done after an IF");
    }
    return null;
  }

  private Item let() {
    tokens.expectWord("LET");
    String name = tokens.expectName("a name");
    if (!allRows.add(name)) {
      throw tokens.wrong("the name " + name + " is that of another LET");
    }
    tokens.expectSymbol("=");
    tokens.expectSymbol("(");
    if (!tokens.peek().isWord("SELECT")) {
      throw tokens.expected("SELECT");
    }
    StatementText select = StatementReader.read(tokens, ")", rows);
    tokens.expectSymbol(")");
    tokens.expectSymbol(";");
    rows.add(name);
    return new Item.Let(name, select);
  }

  private Item select() {
    ExpressionParser expressions = new ExpressionParser(tokens, rows);
    int place = tokens.place();
    tokens.expectWord("SELECT");
    if (isOfTable()) {
      tokens.backTo(place);
      StatementText select = StatementReader.read(tokens, ";", rows);
      tokens.expectSymbol(";");
      return new Item.Rows(select);
    }
    List<Item.Named> columns = new ArrayList<>();
    do {
      if (!expressions.isReference()) {
        throw tokens.expected("FROM, or name.column with the name of a LET");
      }
      Expression.Reference reference = expressions.reference();
      String name = tokens.takeIfWord("AS") ? tokens.expectName("a name") : reference.text();
      columns.add(new Item.Named(reference, name));
    } while (tokens.takeIfSymbol(","));
    tokens.expectSymbol(";");
    return new Item.Values(columns);
  }

  /** Whether a FROM comes before the statement ends. */
  private boolean isOfTable() {
    int ahead = 0;
    while (!tokens.peek(ahead).isSymbol(";")
        && tokens.peek(ahead).kind() != BlockTokens.Kind.END
        && !tokens.peek(ahead).isWord("FROM")) {
      ahead++;
    }
    return tokens.peek(ahead).isWord("FROM");
  }

  private Item choice() {
    tokens.expectWord("IF");
    if (++depth > MAX_DEPTH) {
      throw tokens.wrong("more than " + MAX_DEPTH + " IFs in one another");
    }
    Condition condition = new ExpressionParser(tokens, rows).condition();
    tokens.expectWord("THEN");
    List<Item> then = branch();
    List<Item> otherwise = tokens.takeIfWord("ELSE") ? branch() : List.of();
    if (!tokens.peek().isWord("END")) {
      throw tokens.expected("LET, SELECT, INSERT, UPDATE, DELETE, IF, ELSE or END IF");
    }
    tokens.take();
    tokens.expectWord("IF");
    tokens.takeIfSymbol(";");
    depth--;
    return new Item.Choice(condition, then, otherwise);
  }

  /** What is read in it has no name outside of it. */
  private List<Item> branch() {
    Set<String> before = rows;
    rows = new LinkedHashSet<>(before);
    List<Item> branch = items();
    rows = before;
    return branch;
  }
}
