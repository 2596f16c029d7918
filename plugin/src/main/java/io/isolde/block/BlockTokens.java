// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.error.IsoldeException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.antlr.runtime.ANTLRStringStream;
import org.antlr.runtime.CommonToken;
import org.antlr.runtime.Token;
import org.apache.cassandra.cql3.CqlLexer;
import org.apache.cassandra.cql3.ErrorCollector;

/** The tokens of a block, as Cassandra's lexer finds them, and how far a parser has come. */
final class BlockTokens {
  enum Kind {
    WORD,
    QUOTED,
    NUMBER,
    /** A constant that is no number. */
    CONSTANT,
    MARKER,
    SYMBOL,
    END
  }

  /**
   * One token.
   *
   * @param text as it was written
   * @param marker the number of a marker among all of the text; -1 for other tokens
   */
  record Part(Kind kind, String text, int start, int end, int marker) {
    boolean isWord(String word) {
      return kind == Kind.WORD && text.equalsIgnoreCase(word);
    }

    boolean isSymbol(String symbol) {
      return kind == Kind.SYMBOL && text.equals(symbol);
    }

    boolean isName() {
      return BlockTokens.isName(kind);
    }

    /** Of an identifier. */
    String name() {
      return nameOf(text);
    }
  }

  private static final Set<String> CONSTANT_WORDS =
      Set.of("true", "false", "null", "nan", "infinity", "-nan", "-infinity");

  private final String source;
  private final List<Part> parts = new ArrayList<>();
  private final List<String> markers = new ArrayList<>();
  private int next;

  private BlockTokens(String source) {
    this.source = source;
  }

  /**
   * Reads a text.
   *
   * @throws org.apache.cassandra.exceptions.SyntaxException as Cassandra's lexer does
   */
  static BlockTokens of(String source) {
    ErrorCollector errors = new ErrorCollector(source);
    // For Cassandra's lexer, a comment ends with its line.
    CqlLexer lexer = new CqlLexer(new ANTLRStringStream(source + "\n"));
    lexer.addErrorListener(errors);
    BlockTokens tokens = new BlockTokens(source);
    Deque<String> open = new ArrayDeque<>();
    for (Token token = lexer.nextToken(); token.getType() != Token.EOF; token = lexer.nextToken()) {
      if (token.getChannel() == Token.DEFAULT_CHANNEL) {
        tokens.add((CommonToken) token, open);
      }
    }
    errors.throwFirstSyntaxError();
    int end = source.length();
    tokens.parts.add(new Part(Kind.END, "the end", end, end, -1));
    return tokens;
  }

  /**
   * Adds a token.
   *
   * @param open the brackets that are open
   */
  private void add(CommonToken token, Deque<String> open) {
    int end = token.getStopIndex() + 1;
    String text = source.substring(token.getStartIndex(), end);
    Kind kind = kind(token.getType(), text);
    if (kind == Kind.MARKER) {
      addMarker(token.getStartIndex(), end, null);
    } else if (isName(kind) && isColonOfMarker(open)) {
      Part colon = parts.remove(parts.size() - 1);
      addMarker(colon.start(), end, nameOf(text));
    } else {
      parts.add(new Part(kind, text, token.getStartIndex(), end, -1));
      follow(text, open);
    }
  }

  private void addMarker(int start, int end, String name) {
    parts.add(new Part(Kind.MARKER, source.substring(start, end), start, end, markers.size()));
    markers.add(name);
  }

  /** In braces, a colon may also stand between a key and its value. */
  private boolean isColonOfMarker(Deque<String> open) {
    int size = parts.size();
    if (size == 0 || !parts.get(size - 1).isSymbol(":")) {
      return false;
    }
    boolean isInBraces = "{".equals(open.peek());
    return !isInBraces || Set.of("{", ",", ":").contains(parts.get(size - 2).text());
  }

  private static void follow(String text, Deque<String> open) {
    switch (text) {
      case "(", "[", "{" -> open.push(text);
      case ")", "]", "}" -> open.poll();
      default -> {
        // No bracket.
      }
    }
  }

  private static boolean isName(Kind kind) {
    return kind == Kind.WORD || kind == Kind.QUOTED;
  }

  private static String nameOf(String text) {
    return text.startsWith("\"")
        ? text.substring(1, text.length() - 1).replace("\"\"", "\"")
        : text.toLowerCase(Locale.ROOT);
  }

  private static Kind kind(int type, String text) {
    return switch (type) {
      case CqlLexer.QUOTED_NAME -> Kind.QUOTED;
      case CqlLexer.INTEGER, CqlLexer.FLOAT -> Kind.NUMBER;
      case CqlLexer.STRING_LITERAL, CqlLexer.UUID, CqlLexer.HEXNUMBER, CqlLexer.DURATION ->
          Kind.CONSTANT;
      case CqlLexer.QMARK -> Kind.MARKER;
      default -> {
        if (CONSTANT_WORDS.contains(text.toLowerCase(Locale.ROOT))) {
          yield Kind.CONSTANT;
        }
        yield Character.isLetter(text.charAt(0)) ? Kind.WORD : Kind.SYMBOL;
      }
    };
  }

  /** The names of all markers, in their order; null for each without a name. */
  List<String> markers() {
    return Collections.unmodifiableList(markers);
  }

  /** The place of the next token, to {@link #backTo}. */
  int place() {
    return next;
  }

  void backTo(int place) {
    next = place;
  }

  Part peek() {
    return peek(0);
  }

  /** A token that comes later; the end again and again. */
  Part peek(int ahead) {
    return parts.get(Math.min(next + ahead, parts.size() - 1));
  }

  /** The token before the next one; the first one if there is none. */
  Part last() {
    return parts.get(Math.max(next - 1, 0));
  }

  Part take() {
    Part part = peek();
    next = Math.min(next + 1, parts.size() - 1);
    return part;
  }

  boolean takeIfWord(String word) {
    boolean isIt = peek().isWord(word);
    if (isIt) {
      take();
    }
    return isIt;
  }

  boolean takeIfSymbol(String symbol) {
    boolean isIt = peek().isSymbol(symbol);
    if (isIt) {
      take();
    }
    return isIt;
  }

  void expectWord(String word) {
    if (!takeIfWord(word)) {
      throw expected(word);
    }
  }

  void expectSymbol(String symbol) {
    if (!takeIfSymbol(symbol)) {
      throw expected("'" + symbol + "'");
    }
  }

  String expectName(String what) {
    if (!peek().isName()) {
      throw expected(what);
    }
    return take().name();
  }

  String source(int start, int end) {
    return source.substring(start, end);
  }

  /** What to throw if something else stands here. */
  RuntimeException expected(String what) {
    return wrong("expected " + what + ", not '" + peek().text() + "'");
  }

  /** What to throw because of the next token. */
  RuntimeException wrong(String sentence) {
    String before = source.substring(0, peek().start());
    long line = before.chars().filter(c -> c == '\n').count() + 1;
    int column = before.length() - before.lastIndexOf('\n') - 1;
    return IsoldeException.syntax(
        "BEGIN TRANSACTION, line " + line + ":" + column + ": " + sentence);
  }
}
