// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLog;

/**
 * Bounds the entries that a log keeps in memory while a follower is behind. Since RATIS-1893 Ratis
 * lets go of one file for each that it closes, and of none if it is just busy with the one before.
 * So behind a follower that stands still, its memory would grow until the heap is full.
 */
final class LogCache {
  private static final MethodHandle CHECK_AND_EVICT = find("checkAndEvictCache");

  private LogCache() {}

  private static MethodHandle find(String method) {
    try {
      var declared = SegmentedRaftLog.class.getDeclaredMethod(method);
      declared.setAccessible(true);
      return MethodHandles.lookup().unreflect(declared);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This is not the Ratis that Isolde was built for.", e);
    }
  }

  /**
   * Lets go of one file, if there are too many in memory. To be called for each entry: each file
   * has one at least, so what is in memory can't grow.
   */
  static void trim(RaftServer.Division division) {
    RaftLog log = division.getRaftLog();
    if (log instanceof SegmentedRaftLog segments) {
      try {
        CHECK_AND_EVICT.invokeExact(segments);
      } catch (RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new AssertionError("It declares no other exceptions.", e);
      }
    }
  }
}
