// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * A request to a node, sent once more when it fails: a node that has just started hangs up on those
 * of whom gossip has not told it yet. So it must not matter how often the request arrives. For one
 * thread.
 */
public final class PatientRequest {
  private static final long PAUSE_MILLIS = 100;

  private final Supplier<CompletableFuture<byte[]>> send;
  private CompletableFuture<byte[]> answer;

  /** Sends it. */
  public PatientRequest(Supplier<CompletableFuture<byte[]>> send) {
    this.send = send;
    this.answer = send.get();
  }

  /**
   * Waits for the answer.
   *
   * @param patienceMillis for how long from now on it is sent again after a failure
   * @param limitMillis for how long from now on an answer is waited for
   * @throws ExecutionException if it failed after that patience; of the last failure
   * @throws TimeoutException if there is no answer within the limit
   */
  public byte[] await(long patienceMillis, long limitMillis)
      throws ExecutionException, TimeoutException, InterruptedException {
    long startNanos = System.nanoTime();
    while (true) {
      try {
        long leftMillis = Math.max(0, limitMillis - millisSince(startNanos));
        return answer.get(leftMillis, TimeUnit.MILLISECONDS);
      } catch (ExecutionException e) {
        if (millisSince(startNanos) >= patienceMillis) {
          throw e;
        }
        Thread.sleep(PAUSE_MILLIS);
        answer = send.get();
      }
    }
  }

  private static long millisSince(long startNanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }
}
