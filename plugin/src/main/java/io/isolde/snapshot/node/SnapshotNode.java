// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.config.SnapshotSettings;
import io.isolde.peers.JsonMessages;
import io.isolde.peers.NodePort;
import io.isolde.peers.Peers;
import io.isolde.peers.Ring;
import io.isolde.snapshot.gate.WriteGate;
import io.isolde.snapshot.protocol.StepAnswer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** All that this node does about snapshots. */
public final class SnapshotNode {
  private static final int THREADS = 32;
  private static final int MAX_WAITING = 256;
  private static final long STATUS_MILLIS = 2_000;

  private final WriteGate gate = new WriteGate();
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS,
          THREADS,
          10,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(MAX_WAITING),
          new ThreadFactoryBuilder().setNameFormat("isolde-snapshot-%d").setDaemon(true).build());

  private final Participants participants = new Participants(gate, threads);
  private final Supplier<Optional<NodePort>> port;
  private final SnapshotSettings settings;

  private volatile Peers peers;
  private volatile Snapshots snapshots;

  /**
   * Makes it; nothing happens before {@link #start}.
   *
   * @param port empty until the port for other nodes is open
   */
  public SnapshotNode(SnapshotSettings settings, Supplier<Optional<NodePort>> port) {
    this.settings = settings;
    this.port = port;
    threads.allowCoreThreadTimeOut(true);
  }

  /** Starts, once Cassandra knows its ring and listens. */
  public synchronized void start() {
    if (snapshots == null) {
      peers = new Peers(Ring.self(), Peers.Service.SNAPSHOTS, port, threads, this::answer);
      snapshots = new Snapshots(settings, peers);
      new Janitor(participants, snapshots).start();
    }
    peers.serve(); // Also if a client came before the port was open.
  }

  /** Holds back the writes of clients while a snapshot is cut. */
  public WriteGate gate() {
    return gate;
  }

  /** Creates and drops. */
  public Snapshots snapshots() {
    start();
    return snapshots;
  }

  private byte[] answer(byte[] bytes) {
    try {
      SnapshotSpec.Request request = JsonMessages.read(bytes, SnapshotSpec.Request.class);
      return switch (request.kind()) {
        case STEP -> JsonMessages.bytes(participants.asked(request.step(), request.order()));
        case RELEASE -> {
          participants.released(request.order());
          yield JsonMessages.bytes(StepAnswer.DONE);
        }
        case STATUS -> JsonMessages.bytes(participants.status());
      };
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Asks all nodes what they have; empty for those that do not answer within two seconds. */
  public Map<String, Optional<List<SnapshotReplicaStatus>>> status() {
    start();
    byte[] question =
        JsonMessages.bytes(new SnapshotSpec.Request(SnapshotSpec.Kind.STATUS, null, null));
    Map<String, CompletableFuture<byte[]>> asked = new HashMap<>();
    Ring.members().forEach(node -> asked.put(node, peers.ask(node, question)));
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STATUS_MILLIS);
    Map<String, Optional<List<SnapshotReplicaStatus>>> answers = new HashMap<>();
    asked.forEach((node, answer) -> answers.put(node, statusOf(answer, deadline)));
    return answers;
  }

  private static Optional<List<SnapshotReplicaStatus>> statusOf(
      CompletableFuture<byte[]> answer, long deadlineNanos) {
    try {
      long left = Math.max(0, deadlineNanos - System.nanoTime());
      return Optional.of(
          List.of(
              JsonMessages.read(
                  answer.get(left, TimeUnit.NANOSECONDS), SnapshotReplicaStatus[].class)));
    } catch (ExecutionException | TimeoutException | IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }
}
