// SPDX-License-Identifier: Apache-2.0
package io.isolde.error;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.exceptions.SyntaxException;

/**
 * An error as the client sees it: a sentence for people, then a trailer for programs.
 *
 * <pre>The row … [isolde code=CONFLICT retryable=true outcome=not_committed table=bank.account]
 * </pre>
 *
 * <p>An invalid request in terms of the protocol, since no driver retries that by itself.
 */
public final class IsoldeException extends InvalidRequestException {
  private final ErrorCode errorCode;
  private final String sentence;
  private final Map<String, String> details;

  private IsoldeException(ErrorCode errorCode, String sentence, Map<String, String> details) {
    super(sentence + trailer(errorCode, details));
    this.errorCode = errorCode;
    this.sentence = sentence;
    this.details = details;
  }

  /**
   * Makes an error.
   *
   * @param details pairs of a name and a value; null where a value is not known
   */
  public static IsoldeException of(ErrorCode errorCode, String sentence, Object... details) {
    assert details.length % 2 == 0;
    Map<String, String> named = new TreeMap<>();
    for (int i = 0; i < details.length; i += 2) {
      if (details[i + 1] != null) {
        named.put((String) details[i], String.valueOf(details[i + 1]));
      }
    }
    return new IsoldeException(errorCode, sentence, named);
  }

  /**
   * A statement of Isolde that can't be understood: INVALID_REQUEST, in terms of the protocol a
   * syntax error.
   */
  public static SyntaxException syntax(String sentence) {
    return new SyntaxException(sentence + trailer(ErrorCode.INVALID_REQUEST, Map.of()));
  }

  /** INVALID_REQUEST. */
  public static IsoldeException invalid(String sentence, Object... details) {
    return of(ErrorCode.INVALID_REQUEST, sentence, details);
  }

  private static String trailer(ErrorCode errorCode, Map<String, String> details) {
    StringBuilder trailer = new StringBuilder(" [isolde code=").append(errorCode);
    trailer.append(" retryable=").append(errorCode.isRetryable());
    trailer.append(" outcome=").append(errorCode.outcome().name().toLowerCase(Locale.ROOT));
    details.forEach(
        (name, value) ->
            trailer.append(' ').append(name).append('=').append(percentEncoded(value)));
    return trailer.append(']').toString();
  }

  private static String percentEncoded(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8)
        .replace("+", "%20")
        .replace("%3A", ":")
        .replace("%2C", ",");
  }

  public ErrorCode errorCode() {
    return errorCode;
  }

  /** What is for people. */
  public String sentence() {
    return sentence;
  }

  public Map<String, String> details() {
    return details;
  }
}
