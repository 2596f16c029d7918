// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The answer to a request, when it comes. Fails with a {@link TransportException}, or with what the
 * decoder throws.
 */
public final class FutureResponse<T> extends CompletableFuture<T> implements ResponseHandler {
  private final Function<ByteBuf, T> decode;

  /**
   * Waits for an answer.
   *
   * @param decode makes it of its bytes, on an event loop; must not keep them
   */
  public FutureResponse(Function<ByteBuf, T> decode) {
    this.decode = decode;
  }

  @Override
  public void onResponse(ByteBuf body) {
    try {
      complete(decode.apply(body));
    } catch (RuntimeException e) {
      completeExceptionally(e);
    } finally {
      body.release();
    }
  }

  @Override
  public void onFailure(TransportException cause) {
    completeExceptionally(cause);
  }
}
