// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.LogData;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A write that remembers whether it got past the first checks. Ratis answers "not leader" both
 * before it appends and when the leader steps down later; only in the first case was nothing done.
 */
final class Proposal extends RaftClientRequest {
  private final Content content;
  private volatile boolean isStarted;

  Proposal(ClientId client, RaftPeerId server, RaftGroupId group, long call, LogData data) {
    super(client, server, group, call, RaftClientRequest.writeRequestType());
    this.content = new Content(data);
  }

  @Override
  public Message getMessage() {
    return content;
  }

  /** What was proposed. */
  LogData data() {
    return content.data;
  }

  /** The state machine was told of it: from now on it may end up in the log. */
  void started() {
    isStarted = true;
  }

  boolean isStarted() {
    return isStarted;
  }

  /** Encodes once, though Ratis asks several times. */
  private static final class Content implements Message {
    private final LogData data;
    private ByteString bytes;

    private Content(LogData data) {
      this.data = data;
    }

    @Override
    public synchronized ByteString getContent() {
      if (bytes == null) {
        bytes = UnsafeByteOperations.unsafeWrap(data.encode());
      }
      return bytes;
    }
  }
}
