// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Three nodes in this process with one group. */
final class GroupNodes implements AutoCloseable {
  static final UUID GROUP = new UUID(7, 7);
  static final int NODES = 3;
  private static final long LOG_BYTES = 1 << 15;
  private static final long QUEUE_BYTES = 64 << 20;
  private static final long TIMEOUT_MILLIS = 60_000;

  private final long timeoutMillis;

  private final Path folder;
  final List<Peer> peers = new ArrayList<>();
  final List<MemoryStorage> storages = new ArrayList<>();
  final List<GroupServer> servers = new ArrayList<>();

  /** By how much the clocks of nodes are wrong. */
  final Map<Integer, Long> skewMicros = new ConcurrentHashMap<>();

  /** What the next decisions come to, before any is made. */
  final Queue<CompletableFuture<byte[]>> answers = new ConcurrentLinkedQueue<>();

  /** Of decisions: whether an attempt before each had no answer, as leaders heard it. */
  final Queue<Boolean> attempts = new ConcurrentLinkedQueue<>();

  GroupNodes(Path folder) throws IOException {
    this(folder, TIMEOUT_MILLIS);
  }

  GroupNodes(Path folder, long timeoutMillis) throws IOException {
    this.folder = folder;
    this.timeoutMillis = timeoutMillis;
    for (int i = 0; i < NODES; i++) {
      addPlace();
    }
    for (int i = 0; i < NODES; i++) {
      start(i);
    }
  }

  /** The address of a node; those of another process that runs tests are others. */
  static String host(int number) {
    return "127.0.%s.%d".formatted(System.getProperty("isolde.test.fork", "0"), number + 1);
  }

  private void addPlace() throws IOException {
    int number = peers.size();
    String host = host(number);
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(host, 0));
      peers.add(new Peer("n" + number, new InetSocketAddress(host, socket.getLocalPort())));
    }
    storages.add(new MemoryStorage(this::storageAt));
    servers.add(null);
  }

  /** A node that has no replica; returns its number. */
  int addOutsider() throws IOException {
    addPlace();
    int number = peers.size() - 1;
    startOutsider(number);
    return number;
  }

  /** With its replica if it was about to join, or is a member. */
  void startOutsider(int number) throws IOException {
    start(number, List.of(), notes(number).isJoining(GROUP) || notes(number).hasLog(GROUP));
  }

  ReplicaNotes notes(int number) throws IOException {
    return new ReplicaNotes(folder.resolve(peers.get(number).id()).resolve("records"));
  }

  Membership membership(int number) {
    return servers.get(number).membership();
  }

  private MemoryStorage storageAt(String address) {
    for (int i = 0; i < peers.size(); i++) {
      if (peers.get(i).address().getHostString().equals(address)) {
        return storages.get(i);
      }
    }
    throw new IllegalArgumentException(address);
  }

  private record Reads(
      MemoryStorage storage,
      Supplier<GroupServer> server,
      GroupClient.Target target,
      Queue<CompletableFuture<byte[]>> answers,
      Queue<Boolean> attempts)
      implements Requests {
    @Override
    public CompletableFuture<byte[]> read(ReplicaGroup group, byte[] request) {
      String found = storage.get(new String(request, StandardCharsets.UTF_8));
      return CompletableFuture.completedFuture(
          String.valueOf(found).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public CompletableFuture<byte[]> readMember(ReplicaGroup group, byte[] request) {
      return read(group, request);
    }

    /** Adds one to a number. */
    @Override
    public CompletableFuture<byte[]> decide(
        ReplicaGroup group, RequestId id, boolean mayBeRepeated, byte[] request) {
      attempts.add(mayBeRepeated);
      CompletableFuture<byte[]> answer = answers.poll();
      if (answer != null) {
        return answer;
      }
      String key = new String(request, StandardCharsets.UTF_8);
      return CompletableFuture.supplyAsync(
          () ->
              group.decide(
                  id,
                  mayBeRepeated,
                  key.hashCode(),
                  System.nanoTime() + TimeUnit.SECONDS.toNanos(30),
                  new Increment(storage, key)));
    }

    @Override
    public NodeLoad load() {
      return new NodeLoad(42, CompactionPermit.State.WAITING, 7, true);
    }

    @Override
    public int compactionsPending(UUID group) {
      return 3;
    }

    @Override
    public CompletableFuture<Void> join(UUID group, UUID move) {
      return CompletableFuture.runAsync(
          () -> {
            try {
              server.get().membership().join(target, storage);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          });
    }

    @Override
    public boolean isSuccessor(String newId, String oldId, String address) {
      return newId.startsWith("new");
    }
  }

  private record Increment(MemoryStorage storage, String key)
      implements ReplicaGroup.Decision<byte[]> {
    @Override
    public ReplicaGroup.Outcome<byte[]> decide() {
      String now = storage.get(key);
      int next = now == null ? 1 : Integer.parseInt(now) + 1;
      return new ReplicaGroup.Outcome<>(
          new byte[0], MemoryStorage.payload(key, Integer.toString(next)), null);
    }

    @Override
    public byte[] repeated() {
      return new byte[0];
    }

    @Override
    public byte[] declined() {
      throw new AssertionError("It always writes.");
    }

    @Override
    public byte[] nothing() {
      throw new AssertionError("It always writes.");
    }
  }

  void start(int number) throws IOException {
    start(number, peers.subList(0, NODES));
  }

  void start(int number, List<Peer> initialMembers) throws IOException {
    start(number, initialMembers, true);
  }

  private void start(int number, List<Peer> initialMembers, boolean hasGroup) throws IOException {
    RaftSettings settings =
        RaftSettings.defaults()
            .withFsync(false)
            .withAppends(1 << 14, 16, 8)
            .withSegmentBytes(1 << 16)
            .withSnapshots(1, false);
    Path own = folder.resolve(peers.get(number).id());
    servers.set(
        number,
        new GroupServer(
            new GroupServer.Options(
                settings,
                peers.get(number),
                own.resolve("logs"),
                own.resolve("records"),
                LOG_BYTES,
                QUEUE_BYTES,
                timeoutMillis,
                () ->
                    ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now())
                        + skewMicros.getOrDefault(number, 0L)),
            hasGroup
                ? List.of(new GroupServer.Opening(GROUP, initialMembers, storages.get(number)))
                : List.of(),
            new Reads(storages.get(number), () -> servers.get(number), target(), answers, attempts),
            transport -> transport));
  }

  /** As the end of a process would. */
  void crash(int number) {
    servers.get(number).close();
    servers.set(number, null);
    storages.get(number).crash();
  }

  GroupClient.Target target() {
    return new GroupClient.Target(GROUP, List.copyOf(peers.subList(0, NODES)));
  }

  /** Returns the timestamp. */
  long write(int through, String key, String value) throws Exception {
    return servers
        .get(through)
        .client()
        .write(target(), new int[] {key.hashCode()}, MemoryStorage.payload(key, value), null)
        .get(2 * TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Adds one to a number where the leader is. */
  void increment(int through, String key) throws Exception {
    var unused =
        servers
            .get(through)
            .client()
            .decide(target(), key.getBytes(StandardCharsets.UTF_8))
            .get(2 * TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Has a node lead; returns when it does. */
  void lead(int number) {
    await(
        () -> {
          try {
            var unused =
                servers
                    .get(number)
                    .client()
                    .lead(target(), peers.get(number).address().getHostString())
                    .get(2 * TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
          } catch (ExecutionException e) {
            return false; // tried again
          } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
          }
          return replica(number).isLeader();
        });
  }

  String read(int through, String key) throws Exception {
    byte[] answer =
        servers
            .get(through)
            .client()
            .read(target(), key.getBytes(StandardCharsets.UTF_8))
            .get(2 * TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
    return new String(answer, StandardCharsets.UTF_8);
  }

  ReplicaGroup replica(int number) {
    return servers.get(number).group(GROUP).orElseThrow();
  }

  int leader() {
    int[] leader = {-1};
    await(
        () -> {
          for (int i = 0; i < servers.size(); i++) {
            if (servers.get(i) != null
                && servers.get(i).group(GROUP).filter(ReplicaGroup::isLeader).isPresent()) {
              leader[0] = i;
            }
          }
          return leader[0] >= 0;
        });
    return leader[0];
  }

  static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > end) {
        throw new AssertionError("It did not come true in 90 s.");
      }
      try {
        Thread.sleep(2);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Override
  public void close() {
    for (GroupServer server : servers) {
      if (server != null) {
        server.close();
      }
    }
  }
}
