// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Who answers which of the requests that are not Raft's. */
final class ApplicationServices implements ApplicationHandler {
  private final ApplicationHandler otherwise;

  /** At most one for each byte. */
  private final Map<Byte, ApplicationHandler> handlers = new ConcurrentHashMap<>();

  ApplicationServices(ApplicationHandler otherwise) {
    this.otherwise = otherwise;
  }

  void serve(byte service, ApplicationHandler handler) {
    handlers.put(service, handler);
  }

  @Override
  public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
    handlers.getOrDefault(service, otherwise).onRequest(from, service, requestId, body);
  }
}
