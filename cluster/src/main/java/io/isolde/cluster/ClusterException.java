// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

/** A local cluster can't do what was asked; the message says why, in full sentences. */
public final class ClusterException extends RuntimeException {

  /** What went wrong, for code that wants to react to it. */
  public enum Reason {
    /** A system property that says where the jars are is missing, or the jars are not there. */
    DISTRIBUTION_MISSING,
    /** The Java virtual machine in use is not version 17. */
    WRONG_JAVA,
    /** The machine has less free memory than the nodes would take. */
    NOT_ENOUGH_MEMORY,
    /** Another process listens where the node is to listen. */
    PORT_TAKEN,
    /** A cluster is to be created where something exists already. */
    FOLDER_EXISTS,
    /** The folder holds no cluster. */
    UNKNOWN_CLUSTER,
    /** A setting has a value that can't work. */
    ILLEGAL_SETTING,
    /** The node ended while it was starting. */
    NODE_DIED,
    /** A wait ended before what was waited for happened. */
    TIMEOUT,
    /** The request needs a running node, and it is not running. */
    NOT_RUNNING,
    /** The request needs a node that does not run, and it does. */
    STILL_RUNNING,
    /** A management call of the node failed. */
    JMX_FAILED,
    /** The waiting thread was interrupted. */
    INTERRUPTED,
    /** A file or a process could not be handled. */
    IO
  }

  private final Reason reason;

  ClusterException(Reason reason, String message) {
    super(message);
    this.reason = reason;
  }

  ClusterException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = reason;
  }

  /** Returns what went wrong. */
  public Reason reason() {
    return reason;
  }
}
