// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.isolde.notification.ClientMessage;
import io.isolde.notification.ServerMessage;
import java.util.Optional;

/** The messages of the port as text. */
final class PushJson {
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false)
          .setSerializationInclusion(JsonInclude.Include.NON_NULL);

  private PushJson() {}

  static byte[] bytes(ServerMessage message) {
    try {
      return JSON.writeValueAsBytes(message);
    } catch (JsonProcessingException e) {
      throw new AssertionError("a record of plain values", e);
    }
  }

  /** Empty if it is none. */
  static Optional<ClientMessage> message(String text) {
    try {
      ClientMessage message = JSON.readValue(text, ClientMessage.class);
      return Optional.ofNullable(message).filter(PushJson::isKnown);
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }

  private static boolean isKnown(ClientMessage message) {
    return ClientMessage.UNSUBSCRIBE.equals(message.type())
        || (ClientMessage.SUBSCRIBE.equals(message.type()) && message.statement() != null);
  }
}
