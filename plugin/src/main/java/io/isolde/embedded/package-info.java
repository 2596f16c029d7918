// SPDX-License-Identifier: Apache-2.0
/** The status oracle inside the process of a single node, with its timestamps reserved on disk. */
package io.isolde.embedded;
