// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import java.nio.ByteBuffer;
import java.util.Map;

/**
 * What a replica puts on its answer to a sampled request, by its own clock.
 *
 * @param arrivedNanos when it began with the request
 * @param answeredNanos when it was done
 */
record AnswerStamp(long arrivedNanos, long answeredNanos) {
  /** In the map of custom parameters of a message. */
  static final String KEY = "isolde.t";

  Map<String, byte[]> toParameter() {
    byte[] bytes = new byte[2 * Long.BYTES];
    ByteBuffer.wrap(bytes).putLong(arrivedNanos).putLong(answeredNanos);
    return Map.of(KEY, bytes);
  }

  /** Null if the parameters hold none. */
  static AnswerStamp of(Map<String, byte[]> parameters) {
    byte[] bytes = parameters == null ? null : parameters.get(KEY);
    if (bytes == null || bytes.length != 2 * Long.BYTES) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    return new AnswerStamp(buffer.getLong(), buffer.getLong());
  }
}
