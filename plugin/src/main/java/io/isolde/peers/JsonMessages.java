// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/** Requests and answers between nodes, as JSON: few, small, and readable in a capture. */
public final class JsonMessages {
  private static final ObjectMapper JSON =
      new ObjectMapper().configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false);

  private JsonMessages() {}

  public static byte[] bytes(Object message) {
    try {
      return JSON.writeValueAsBytes(message);
    } catch (JsonProcessingException e) {
      throw new AssertionError("records of plain values", e);
    }
  }

  public static <T> T read(byte[] bytes, Class<T> kind) throws IOException {
    return JSON.readValue(bytes, kind);
  }
}
