// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.List;

/**
 * What a client sends, as JSON with these names.
 *
 * @param type {@code subscribe} or {@code unsubscribe}
 * @param id of the subscription, which the client chooses; never used again in this connection
 * @param statement {@code SELECT CHANGES FROM …}, without AFTER
 * @param values for its question marks, written as in INSERT JSON; null if there are none
 * @param bytes instead of values: as the native protocol has them, in Base64
 * @param after the timestamp after which changes are wanted; null for those from now on
 */
public record ClientMessage(
    String type, int id, String statement, List<Object> values, List<String> bytes, Long after) {
  public static final String SUBSCRIBE = "subscribe";
  public static final String UNSUBSCRIBE = "unsubscribe";

  /** Subscribes with values as a driver has bound them. */
  public static ClientMessage subscribe(int id, String statement, List<String> bytes, Long after) {
    return new ClientMessage(SUBSCRIBE, id, statement, null, bytes, after);
  }

  public static ClientMessage unsubscribe(int id) {
    return new ClientMessage(UNSUBSCRIBE, id, null, null, null, null);
  }
}
