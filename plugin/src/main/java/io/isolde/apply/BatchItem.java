// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

/** Parts of a commit on their way to one replica. One of the two callbacks comes, once. */
interface BatchItem {
  /** As {@link BatchFrames#item} has made it. */
  byte[] bytes();

  /** The replica has it, as durably as Cassandra's own answer to a write says. */
  void acknowledged();

  /** The replica has it or not: it must be sent in another way. May come on any thread. */
  void undelivered();
}
