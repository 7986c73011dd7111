/** Sound from files of the server: sample questions and recorded evidence. One at a time. */
export interface SoundOutput {
  /** Resolves when it begins; rejects when the file or the device will not have it. */
  play(url: string): Promise<void>;
  stop(): void;
}

export function createSoundOutput(token: () => string | null): SoundOutput {
  let playing: HTMLAudioElement | null = null;
  let objectUrl: string | null = null;

  function stop(): void {
    playing?.pause();
    playing = null;
    if (objectUrl !== null) URL.revokeObjectURL(objectUrl);
    objectUrl = null;
  }

  /** An audio element cannot send a token, so what needs one is fetched first. */
  async function addressOf(url: string): Promise<string> {
    const secret = token();
    if (secret === null) return url;
    const response = await fetch(url, { headers: { authorization: `Bearer ${secret}` } });
    if (!response.ok) throw new Error(`The recording cannot be had (${String(response.status)}).`);
    objectUrl = URL.createObjectURL(await response.blob());
    return objectUrl;
  }

  return {
    async play(url) {
      stop();
      const audio = new Audio(await addressOf(url));
      playing = audio;
      await audio.play();
    },
    stop,
  };
}
