// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.RaftSettings;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** Translates {@link RaftSettings} for Ratis, with what we know about its pitfalls. */
final class RatisProperties {
  private RatisProperties() {}

  static RaftProperties of(RaftSettings settings) {
    RaftProperties p = new RaftProperties();
    p.set(RaftConfigKeys.Rpc.TYPE_KEY, RaftRpcType.class.getName());
    elections(p, settings);
    log(p, settings);
    appends(p, settings);
    reads(p, settings);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, true);
    // The state machine decides, by bytes too.
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(
        p, Math.min(ENTRIES_BETWEEN_LOOKS, settings.snapshotEveryEntries()));
    RaftServerConfigKeys.Snapshot.setRetentionFileNum(p, 2);
    RaftServerConfigKeys.Snapshot.setTriggerWhenStopEnabled(p, false);
    RaftServerConfigKeys.Write.setElementLimit(p, settings.pendingRequests());
    RaftServerConfigKeys.Write.setByteLimit(p, bytes(settings.pendingBytes()));
    // Every request has a client id of its own sequence and is never repeated: a short memory does.
    RaftServerConfigKeys.RetryCache.setExpiryTime(p, TimeDuration.valueOf(5, TimeUnit.SECONDS));
    return p;
  }

  private static void elections(RaftProperties p, RaftSettings settings) {
    TimeDuration max = millis(settings.electionTimeoutMaxMillis());
    RaftServerConfigKeys.Rpc.setTimeoutMin(p, millis(settings.electionTimeoutMinMillis()));
    RaftServerConfigKeys.Rpc.setTimeoutMax(p, max);
    // A node that starts must not stand before the others have started too; but a young group has
    // no leader to disturb.
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(p, millis(FIRST_ELECTION_MILLIS));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(p, millis(2 * FIRST_ELECTION_MILLIS));
    RaftServerConfigKeys.Rpc.setRequestTimeout(p, millis(settings.requestTimeoutMillis()));
    RaftServerConfigKeys.LeaderElection.setPreVote(p, true);
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(p, max);
    // Ratis ends the server after a pause of a minute. A node that was suspended longer has lost
    // its leadership by then and just follows.
    RaftServerConfigKeys.setCloseThreshold(p, TimeDuration.valueOf(3650, TimeUnit.DAYS));
  }

  /** Between this and twice this a node stands that has heard of no leader since it started. */
  private static final int FIRST_ELECTION_MILLIS = 300;

  /** Written whenever a term starts a new file, so it is part of every election. */
  private static final int PREALLOCATED_BYTES = 1 << 18;

  private static final long ENTRIES_BETWEEN_LOOKS = 64;

  private static void log(RaftProperties p, RaftSettings settings) {
    RaftServerConfigKeys.Log.setSegmentSizeMax(p, bytes(settings.segmentBytes()));
    RaftServerConfigKeys.Log.setPreallocatedSize(
        p, bytes(Math.min(settings.segmentBytes(), PREALLOCATED_BYTES)));
    // Else each commit is followed by an entry that says so, with a write to disk of its own, and a
    // hand-over waits for it. Without it a node learns from the leader what is committed.
    RaftServerConfigKeys.Log.setLogMetadataEnabled(p, false);
    RaftServerConfigKeys.Log.setSegmentCacheNumMax(p, 2);
    RaftServerConfigKeys.Log.setSegmentCacheSizeMax(p, bytes(2L * settings.segmentBytes()));
    RaftServerConfigKeys.Log.setWriteBufferSize(p, bytes(settings.bufferBytes()));
    RaftServerConfigKeys.Log.setQueueByteLimit(p, bytes(settings.pendingBytes()));
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, true);
    // Ratis would keep 1,024 entries more, which may be large ones.
    RaftServerConfigKeys.Log.setPurgeGap(p, 1);
    RaftServerConfigKeys.Log.setUnsafeFlushEnabled(p, !settings.fsync());
    // With it a follower that is just writing entries takes whatever begins with the same index for
    // them. So it acknowledges what it does not have (Ratis 3.3.0).
    RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(p, false);
  }

  private static void appends(RaftProperties p, RaftSettings settings) {
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, bytes(settings.appendBytes()));
    RaftServerConfigKeys.Log.Appender.setBufferElementLimit(p, settings.appendEntries());
    // Zero would make the appender spin.
    RaftServerConfigKeys.Log.Appender.setWaitTimeMin(p, TimeDuration.ONE_MILLISECOND);
    RaftServerConfigKeys.Log.Appender.setSnapshotChunkSizeMax(
        p, bytes(RaftSettings.SNAPSHOT_CHUNK_BYTES));
    RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(p, settings.installSnapshots());
  }

  private static void reads(RaftProperties p, RaftSettings settings) {
    RaftServerConfigKeys.Read.setOption(p, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
    RaftServerConfigKeys.Read.setTimeout(p, millis(settings.requestTimeoutMillis()));
    RaftServerConfigKeys.Read.setLeaderLeaseEnabled(p, settings.leaseReads());
    RaftServerConfigKeys.Read.setLeaderLeaseTimeoutRatio(p, settings.leaseRatio());
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }

  private static SizeInBytes bytes(long bytes) {
    return SizeInBytes.valueOf(bytes);
  }
}
