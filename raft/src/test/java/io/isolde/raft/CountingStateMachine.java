// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/** Keeps what it is given, and answers with how many that are. */
final class CountingStateMachine extends BaseStateMachine {
  private final List<String> applied = new ArrayList<>();

  synchronized List<String> applied() {
    return List.copyOf(applied);
  }

  @Override
  public synchronized CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    applied.add(entry.getStateMachineLogEntry().getLogData().toString(StandardCharsets.UTF_8));
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    return CompletableFuture.completedFuture(Message.valueOf(String.valueOf(applied.size())));
  }
}
