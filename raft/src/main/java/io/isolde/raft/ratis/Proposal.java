// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;

/**
 * A write that remembers whether it got past the first checks. Ratis answers "not leader" both
 * before it appends and when the leader steps down later; only in the first case was nothing done.
 */
final class Proposal extends RaftClientRequest {
  private final Message message;
  private volatile boolean isStarted;

  Proposal(ClientId client, RaftPeerId server, RaftGroupId group, long call, Message message) {
    super(client, server, group, call, RaftClientRequest.writeRequestType());
    this.message = message;
  }

  @Override
  public Message getMessage() {
    return message;
  }

  /** The state machine was told of it: from now on it may end up in the log. */
  void started() {
    isStarted = true;
  }

  boolean isStarted() {
    return isStarted;
  }
}
