// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Clients that each talk to one node and send one request after the other, with a short pause
 * between them, until they are closed; with a clock for each node, for the time in which none of
 * its clients succeeds.
 */
final class NodeClients implements AutoCloseable {
  private static final long AFTER_FAILURE_MILLIS = 10;

  /**
   * Short against the gaps, long enough that the nodes are not busy all the time: how soon another
   * takes over is asked, and a machine without a free core would answer how long its queues are.
   */
  private static final long AFTER_SUCCESS_MILLIS = 20;

  /** Requests of one node's clients. */
  static final class OfNode {
    private final Workload workload;
    private final GapClock successes = new GapClock();
    private final LongAdder failed = new LongAdder();

    private OfNode(Workload workload) {
      this.workload = workload;
    }

    GapClock successes() {
      return successes;
    }

    /** Requests that got an error, or no answer within their time. */
    long failed() {
      return failed.sum();
    }
  }

  private final List<OfNode> nodes = new ArrayList<>();
  private final AtomicReference<String> lastFailure = new AtomicReference<>("none");
  private final Ending ending;

  /** Starts so many clients of each node; there is one workload for each. */
  NodeClients(List<Workload> workloads, int clientsPerNode) {
    ending = new Ending(workloads.size() * clientsPerNode);
    workloads.forEach(workload -> nodes.add(new OfNode(workload)));
    for (OfNode node : nodes) {
      for (int i = 0; i < clientsPerNode; i++) {
        next(node);
      }
    }
  }

  private void next(OfNode node) {
    if (ending.isDue()) {
      ending.ended();
      return;
    }
    CompletionStage<?> answer;
    try {
      answer = node.workload.send();
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    var unused =
        answer.whenComplete(
            (done, error) -> {
              if (error == null) {
                node.successes.success();
              } else {
                node.failed.increment();
                lastFailure.set(String.valueOf(error.getMessage()));
              }
              // By another thread: answers that are there at once would call one another.
              CompletableFuture.delayedExecutor(
                      error == null ? AFTER_SUCCESS_MILLIS : AFTER_FAILURE_MILLIS,
                      TimeUnit.MILLISECONDS)
                  .execute(() -> next(node));
            });
  }

  /** Those of a node; the first is 0. */
  OfNode of(int node) {
    return nodes.get(node);
  }

  String lastFailure() {
    return lastFailure.get();
  }

  /** Waits until the requests that are under way have ended, for some time. */
  @Override
  public void close() {
    ending.close();
  }
}
