// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

/**
 * The bounds of a {@link PeerTransport}.
 *
 * @param maxFrameBytes 16 MiB. The largest frame, both ways. Too small: appends and snapshots don't
 *     fit, and the node refuses to start. Too big: one peer can make us hold that much.
 * @param highWaterBytes 8 MiB. How many bytes may wait on a connection before requests are refused
 *     and reading stops; at twice that a slow reader is cut off. Too small: refusals in bursts. Too
 *     big: memory times connections.
 * @param maxInFlight 65,536. Requests of one connection that have no answer yet. Too small: busy
 *     errors. Too big: memory.
 * @param raftThreads 1. Event loops for Raft. Too big: idle threads.
 * @param applicationThreads 2. Event loops for everything else. Too small: handlers queue up. Too
 *     big: context switches.
 * @param workerThreads 16. Threads that answer Raft requests. Too small: votes wait for snapshots.
 *     Too big: nothing, they end when idle.
 * @param connectTimeoutMillis 1,000. For the connection with TLS and greeting. Too small: busy
 *     peers look dead. Too big: retries are slow when packets are lost.
 */
public record TransportSettings(
    int maxFrameBytes,
    int highWaterBytes,
    int maxInFlight,
    int raftThreads,
    int applicationThreads,
    int workerThreads,
    int connectTimeoutMillis) {

  /** Refuses what cannot work. */
  public TransportSettings {
    require(maxFrameBytes >= 1024, "maxFrameBytes must be at least 1,024.");
    require(maxFrameBytes <= 1 << 30, "maxFrameBytes must be at most 1 GiB.");
    require(highWaterBytes >= 1024, "highWaterBytes must be at least 1,024.");
    require(highWaterBytes <= 1 << 29, "highWaterBytes must be at most 512 MiB.");
    require(maxInFlight >= 1, "maxInFlight must be at least 1.");
    require(raftThreads >= 1 && raftThreads <= 64, "raftThreads must be between 1 and 64.");
    require(
        applicationThreads >= 1 && applicationThreads <= 256,
        "applicationThreads must be between 1 and 256.");
    require(workerThreads >= 4, "workerThreads must be at least 4: votes, appends, snapshots.");
    require(connectTimeoutMillis >= 10, "connectTimeoutMillis must be at least 10.");
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  /** The defaults. */
  public static TransportSettings defaults() {
    return new TransportSettings(16 << 20, 8 << 20, 1 << 16, 1, 2, 16, 1000);
  }

  /** These settings with another largest frame. */
  public TransportSettings withMaxFrameBytes(int bytes) {
    return new TransportSettings(
        bytes,
        highWaterBytes,
        maxInFlight,
        raftThreads,
        applicationThreads,
        workerThreads,
        connectTimeoutMillis);
  }

  /** These settings with other bounds of a connection. */
  public TransportSettings withConnectionBounds(int newHighWaterBytes, int newMaxInFlight) {
    return new TransportSettings(
        maxFrameBytes,
        newHighWaterBytes,
        newMaxInFlight,
        raftThreads,
        applicationThreads,
        workerThreads,
        connectTimeoutMillis);
  }
}
