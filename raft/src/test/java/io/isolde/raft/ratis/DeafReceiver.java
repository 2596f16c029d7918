// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.transport.RaftReceiver;
import io.isolde.raft.transport.ServerConnection;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;

/** Stands before a member, and refuses new entries in its place; all else gets through. */
final class DeafReceiver implements RaftReceiver {
  private final RaftReceiver member;

  DeafReceiver(RaftReceiver member) {
    this.member = member;
  }

  @Override
  public void onRequest(ServerConnection from, byte kind, long requestId, ByteBuf body) {
    if (kind == RaftRequests.APPEND && hasEntries(body)) {
      body.release();
      from.fail(requestId, "Deaf.");
    } else {
      member.onRequest(from, kind, requestId, body);
    }
  }

  private static boolean hasEntries(ByteBuf append) {
    try {
      return RaftCall.decode(append.retainedDuplicate(), AppendEntriesRequestProto.parser())
              .getEntriesCount()
          > 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void onClosed(String sender) {
    member.onClosed(sender);
  }
}
