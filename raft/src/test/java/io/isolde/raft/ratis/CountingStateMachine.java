// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;

/** Keeps what it is given, and answers with how many that are. */
final class CountingStateMachine extends BaseStateMachine {
  private final List<String> applied = new ArrayList<>();

  /** Nothing is applied before it is open. */
  private volatile CountDownLatch open = new CountDownLatch(0);

  void awaitBeforeEachEntry(CountDownLatch latch) {
    open = latch;
  }

  synchronized List<String> applied() {
    return List.copyOf(applied);
  }

  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    try {
      open.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return apply(transaction);
  }

  private synchronized CompletableFuture<Message> apply(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    applied.add(entry.getStateMachineLogEntry().getLogData().toString(StandardCharsets.UTF_8));
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    return CompletableFuture.completedFuture(Message.valueOf(String.valueOf(applied.size())));
  }
}
