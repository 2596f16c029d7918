// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.transport.RaftReceiver;
import io.isolde.raft.transport.ServerConnection;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;

/** Remembers which of the appends with entries that came to a follower are still in memory. */
final class KeptAppends implements RaftReceiver {
  private final RaftRequests requests;
  private final Queue<WeakReference<AppendEntriesRequestProto>> came =
      new ConcurrentLinkedQueue<>();

  KeptAppends(RaftRequests requests) {
    this.requests = requests;
  }

  @Override
  public void onRequest(ServerConnection from, byte kind, long requestId, ByteBuf body) {
    if (kind == RaftRequests.APPEND) {
      from.inOrder().execute(() -> append(from, requestId, body));
    } else {
      requests.onRequest(from, kind, requestId, body);
    }
  }

  private void append(ServerConnection from, long requestId, ByteBuf body) {
    try {
      AppendEntriesRequestProto request = RaftCall.decode(body, AppendEntriesRequestProto.parser());
      if (request.getEntriesCount() > 0) {
        came.add(new WeakReference<>(request));
      }
      requests.append(from, requestId, request);
    } catch (IOException e) {
      from.fail(requestId, e.toString());
    }
  }

  @Override
  public void onClosed(String sender) {
    requests.onClosed(sender);
  }

  int count() {
    return came.size();
  }

  long kept() {
    System.gc();
    return came.stream().filter(request -> request.get() != null).count();
  }
}
